"""Process lists for each use of Lodestar (simulator, Go2, Isaac Sim, replay), and a starter without `ros2
launch`.
"""
